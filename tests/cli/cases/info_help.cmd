mxprof info --help
