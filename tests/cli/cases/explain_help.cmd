mxprof explain --help
