# Calls of it are few and are not measured.
OPT_modules/profile/record := -Os
