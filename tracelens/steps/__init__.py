"""Relations that Python builds: a judgement or a walk in order, which SQL says badly.

One module is one relation, named as the module: ``READS`` names the relations it needs, and
``build(frames, options, settings)`` is a pure function from their frames to its own.
"""
