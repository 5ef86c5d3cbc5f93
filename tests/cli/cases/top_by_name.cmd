mxprof top --name work --top 2 sample.mxp
