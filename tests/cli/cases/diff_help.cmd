mxprof diff --help
