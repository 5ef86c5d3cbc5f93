mxprof report --name no-such sample.mxp
