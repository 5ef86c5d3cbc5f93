mxprof report --layout mxnet bad_record.mxp
