mxprof report --csv --by step sample.mxp
