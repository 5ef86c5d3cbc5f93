mxprof report bad_section.mxp
