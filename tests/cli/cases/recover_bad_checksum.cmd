mxprof recover bad_checksum.mxp -o out.mxp; mxprof report --layout mxnet out.mxp | head -4
