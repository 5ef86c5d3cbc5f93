mxprof report --json --csv sample.mxp
