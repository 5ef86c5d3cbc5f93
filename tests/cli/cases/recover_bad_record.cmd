mxprof recover bad_record.mxp -o out.mxp; mxprof report out.mxp | head -4
