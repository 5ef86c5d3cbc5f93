mxprof merge --help
