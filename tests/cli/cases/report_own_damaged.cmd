mxprof report bad_record.mxp
