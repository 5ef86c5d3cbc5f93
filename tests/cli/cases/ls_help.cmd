mxprof ls --help
