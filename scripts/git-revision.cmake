# Writes OUTPUT, a header with the revision of SOURCE and whether its files differ from it; touches it only where that
# changed. Run at every build: cmake -DSOURCE=... -DOUTPUT=... -P git-revision.cmake
set(revision "")
set(dirty "")
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(dirty "no")
  if(changes)
    set(dirty "yes")
  endif()
endif()
set(text "#define PROXBENCH_GIT_REVISION \"${revision}\"\n#define PROXBENCH_GIT_DIRTY \"${dirty}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
