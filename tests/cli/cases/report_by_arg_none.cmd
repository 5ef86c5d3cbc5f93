mxprof report --by arg:request sample.mxp
