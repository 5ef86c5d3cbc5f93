mxprof top --top 5 sample.mxp
