mxprof --help
