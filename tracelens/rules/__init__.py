"""Findings: one file a finding, with its thresholds and its words. No SQL, no connection."""
