# Writes the header OUTPUT. It has the revision of SOURCE, and a digest of the sources that decide the results of runs.
# It also states whether any tracked file except pages (*.md) and measurements differs from the revision. Leaves OUTPUT
# alone if its content is the same. Runs at every build: cmake -DSOURCE=... -DOUTPUT=... -P source-facts.cmake
set(revision "")
set(dirty "")
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no -- . :!*.md :!*/measured/*
    OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(dirty "no")
  if(changes)
    set(dirty "yes")
  endif()
endif()

# The digest ignores comments, layout and tests. It also ignores the code that reads configs, plans sweeps and reports
# results, except for the code that computes the values of lambda paths.
set(folders core oracles solvers experiments/base experiments/data experiments/metrics experiments/run configs/templates)
list(TRANSFORM folders PREPEND ${SOURCE}/)
list(TRANSFORM folders APPEND "/*" OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${patterns} ${SOURCE}/experiments/config/path_grid.*)
list(FILTER sources INCLUDE REGEX "\\.(cpp|h|in|txt)$")
list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/test_|^solvers/example/")
set(code "")
foreach(source IN LISTS sources)
  file(READ ${SOURCE}/${source} text)
  string(REGEX REPLACE "(^|[ \n])//[^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(STRIP "${text}" text)
  string(APPEND code "${text}\n")
endforeach()
string(SHA256 digest "${code}")

set(text "#define PROXBENCH_GIT_REVISION \"${revision}\"\n#define PROXBENCH_GIT_DIRTY \"${dirty}\"\n")
string(APPEND text "#define PROXBENCH_DECIDING_SOURCES \"${digest}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
