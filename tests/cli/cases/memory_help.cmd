mxprof memory --help
