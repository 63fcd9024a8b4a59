# What is done once for a type, a thread, a sample or a row that somebody reads, not for each object: small is better than fast.
set(GCDUMPC_SMALL_FOLDERS answer layout metadata names recorded resolve session sites sql)
set(GCDUMPC_SMALL_FILES
    analyze/merged_tree/merged_largest analyze/merged_tree/merged_roots analyze/path_folds analyze/paths_to_object
    base/text image/space/process_reader_linux nettrace/nt_seq
    analyze/collections/collection_types analyze/merged_tree/merged_heaviest
    analyze/merged_tree/merged_steps analyze/root_order etl/etl io/gunzip read/gcdump_parse
    analyze/duplicates analyze/exceptions analyze/field_sizes analyze/field_values
    analyze/key_groups analyze/owner_fills analyze/root_sets
    analyze/async/async_blocked analyze/async/async_jam analyze/async/blocked analyze/async/async analyze/async/async_kinds
    analyze/async/async_order
    analyze/async/async_runtime analyze/async/async_stacks analyze/async/async_values
    analyze/async/async_wakers analyze/async/async_bytes
    analyze/collections/collection_count analyze/collections/collection_keys
    analyze/collections/collection_names analyze/collections/collections
    analyze/compare/diff analyze/compare/tree_diff
    analyze/findings/finding_assemblies analyze/findings/finding_cancellation
    analyze/findings/finding_code analyze/findings/finding_flows analyze/findings/finding_http
    analyze/findings/finding_memory analyze/findings/finding_pools analyze/findings/finding_tasks
    analyze/findings/finding_timers
    analyze/findings/finding_tracker analyze/findings/finding_types analyze/findings/finding_waits
    analyze/findings/finding_weak_tables
    analyze/findings/finding_arrays analyze/findings/findings
    analyze/suspects/suspects analyze/suspects/suspects_advice analyze/suspects/suspects_below
    analyze/suspects/suspects_finalizers
    analyze/suspects/suspects_by_events analyze/suspects/suspects_captured
    analyze/suspects/suspects_failed
    analyze/suspects/suspects_content analyze/suspects/suspects_duplicates
    analyze/suspects/suspects_handlers analyze/suspects/suspects_headline
    analyze/suspects/suspects_keys
    analyze/suspects/suspects_kinds analyze/suspects/suspects_lifetime
    analyze/suspects/suspects_list analyze/suspects/suspects_listener
    analyze/suspects/suspects_merge analyze/suspects/suspects_names
    analyze/suspects/suspects_collections analyze/suspects/suspects_owner
    analyze/suspects/suspects_pinned analyze/suspects/suspects_object
    analyze/suspects/suspects_path analyze/suspects/suspects_recent
    analyze/dominators/callbacks analyze/suspects/suspects_settled analyze/suspects/suspects_shared
    analyze/suspects/suspects_siblings
    analyze/suspects/suspects_sparse analyze/suspects/suspects_statics
    analyze/suspects/suspects_type analyze/suspects/suspects_ways analyze/suspects/suspects_words
    analyze/generations analyze/lengths analyze/suspects/suspects_alike base/verdict
    etl/etl_merge etl/etl_record read/gcdump_check write/tables/sqlite_disk
    analyze/estimate base/elf_notes base/error base/limit_name base/safe_open_linux base/short_name
    etl/etl_file etl/etl_merge etl/etl_record
    fields/field_names fields/fields
    heap/heap_loss heap/heap_maps heap/heap_recorded heap/heap_type
    image/core_container image/core_overlay image/direct image/image_columns image/image_enums
    image/image_modules image/image_numbers image/image_parts image/number_text image/process_types
    image/recorded_numbers
    image/clr/clr_assemblies image/clr/clr_blocked image/clr/clr_code_files image/clr/clr_facts image/clr/clr_frames
    image/clr/clr_instances image/clr/clr_names image/clr/clr_precompiled image/clr/clr_regions
    image/clr/clr_roots image/clr/clr_runtime image/clr/clr_stacks image/clr/clr_statics
    image/clr/clr_threads image/clr/clr_types
    image/space/elf_core image/space/elf_symbol image/space/process_hold_linux image/space/process_image_linux
    io/file_posix io/input io/staged io/temporary_posix
    load/graph_from_dump
    load/borrowed_names load/dump load/dump_values load/modules load/process_memory load/recorded_apply
    load/places_from_maps load/places_from_values load/recording
    nettrace/nt_append nettrace/nt_frame nettrace/nt_meta
    read/gcdump_names read/gcdump_text read/gcdump_tree read/r_dart read/r_gcdump session/owner_limit
    session/inline_keys io/spill io/spill_linux analyze/async/async_objects analyze/async/async_waits
    values/null_maps values/rows_pack values/secrets values/value_rows values/values_pack values/watched_maps
    values/watched_rows
    write/stacks write/stacks_waits write/v8_names write/w_dart write/w_folded write/w_pprof write/w_sites write/writer
    write/html/html_data write/html/html_own write/html/html_details write/html/html_diff write/html/html_json
    write/html/html_outer write/html/html_plain write/html/html_rest write/html/html_shared
    write/html/html_sites write/html/html_trend write/html/html_values write/html/html_waits write/html/w_html
    write/tables/field_rows write/tables/tables write/tables/tables_facts write/tables/tables_values
    write/tables/sqlite_schema write/tables/w_csv write/tables/w_sqlite
)

set(small_sources ${core_sources})
list(JOIN GCDUMPC_SMALL_FOLDERS "|" folders)
list(FILTER small_sources INCLUDE REGEX "/src/(${folders})/")
foreach(file ${GCDUMPC_SMALL_FILES})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/${file}.c)
    if(NOT EXISTS ${source})
        message(FATAL_ERROR "small-sources.cmake: there is no src/${file}.c")
    endif()
    if(source IN_LIST core_sources)      # else left out by an option
        list(APPEND small_sources ${source})
    endif()
endforeach()
