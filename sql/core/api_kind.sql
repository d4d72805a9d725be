-- What a CUDA (or HIP) call does to the host and the queue, told by its name.
--
-- reads: api_name
-- row:   one name of a call in one file
--
-- name_id  BIGINT   the name, as api_call refers to it
-- name     VARCHAR  as in the CUDA documentation
-- kind     VARCHAR  graph_launch, launch, copy, memset, sync, stream_wait, event, alloc, free or other
SELECT
    name_id,
    name,
    CASE
        WHEN regexp_matches(name, '^(cuda|cu|hip)GraphLaunch') THEN 'graph_launch'
        WHEN
            regexp_matches(name, '^(cuda|cu|hip|hipExt|hipModule|hipExtModule)Launch(Kernel|Cooperative|Device|Grid|$)')
            THEN 'launch'
        WHEN regexp_matches(name, 'Synchronize') THEN 'sync'
        WHEN regexp_matches(name, 'StreamWait') THEN 'stream_wait'
        WHEN regexp_matches(name, 'Event(Record|Query)') THEN 'event'
        WHEN regexp_matches(name, '^(cuda|cu|hip)(Memcpy|MemPrefetch)') THEN 'copy'
        WHEN regexp_matches(name, '^(cuda|cu|hip)Memset') THEN 'memset'
        WHEN
            regexp_matches(
                name,
                '^(cuda|cu|hip)(Malloc|MemAlloc|(Mem)?HostAlloc|MemCreate|MemMap|MemSetAccess|(Mem)?HostRegister)'
            )
            THEN 'alloc'
        WHEN
            regexp_matches(name, '^(cuda|cu|hip)(Free|MemFree|HostFree|MemRelease|MemUnmap|(Mem)?HostUnregister)')
            THEN 'free'
        ELSE 'other'
    END AS kind
FROM api_name
