mxprof top --help
