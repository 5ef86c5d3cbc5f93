mxprof report --step last empty.mxp
