# The manual as HTML in build/docs, with a search box that needs no network.
docs: reference
	@tools/deps.sh docs
	@$(LUA) tools/site/build.lua $(BUILD)/docs $(BUILD)/reference '$(MODULES)'

# docs/coverage.md: operations by dtypes, forms and derivatives, from their rows.
coverage: all
	@LUA_CPATH="$(BUILD)/?.so;;" $(LUA) tools/coverage.lua docs/coverage.md

# The reference as Markdown, from lunarray.help.
.PHONY: reference
reference: all
	@LUA_CPATH="$(BUILD)/?.so;;" $(LUA) tools/reference.lua $(BUILD)/reference

# Annotations for editors, from lunarray.help.
.PHONY: types
types: all
	@LUA_CPATH="$(BUILD)/?.so;;" $(LUA) tools/types.lua $(BUILD)/types
