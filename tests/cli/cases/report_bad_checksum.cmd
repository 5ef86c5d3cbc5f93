mxprof report bad_checksum.mxp
