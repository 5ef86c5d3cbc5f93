mxprof info bad_late_section.mxp
