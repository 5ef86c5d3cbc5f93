mxprof report --layout mxnet bad_checksum.mxp
