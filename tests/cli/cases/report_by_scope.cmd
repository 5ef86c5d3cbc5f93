mxprof report --by scope sample.mxp
