"""Rules that judge the recording: what it lacks, and what bends its numbers."""
