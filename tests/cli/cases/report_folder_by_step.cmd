mxprof report --by step --percentiles several
