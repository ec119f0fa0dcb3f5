#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"
#include <stdlib.h>
#include <stdio.h>
static const char *script =
"local n, words, x = N, {}, 1\n"
"local function random() x = (x * 1103515245 + 12345) % 2147483648; return x end\n"
"for i = 1, n do words[i] = string.format('%x-%d', random() % 5000, i % 10) end\n"
"local count = {}\n"
"for i, w in ipairs(words) do count[w] = (count[w] or 0) + 1 end\n"
"local keys = {}\n"
"for k in pairs(count) do keys[#keys + 1] = k end\n"
"table.sort(keys)\n"
"local parts = {}\n"
"for i, k in ipairs(keys) do if k:find('a+%x*%-[2-7]') then parts[#parts + 1] = k:upper() .. ':' .. count[k] end end\n"
"local text = table.concat(parts, ' ')\n"
"local total = 0\n"
"for word, number in text:gmatch('(%w+)%-%d:(%d+)') do total = total + #word * tonumber(number) end\n"
"local Point = {}; Point.__index = Point\n"
"Point.__add = function(a, b) return setmetatable({x = a.x + b.x, y = a.y + b.y}, Point) end\n"
"local p = setmetatable({x = 0, y = 0}, Point)\n"
"for i = 1, n do p = p + setmetatable({x = i, y = #words[i]}, Point) end\n"
"local text2 = text:gsub('%d', function(d) return d + 1 end)\n"
"print(#keys, #text2, total, p.x, p.y)\n";
int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushinteger(L, atol(argv[1]));
  lua_setglobal(L, "N");
  if (luaL_dostring(L, script)) puts(lua_tostring(L, -1));
  lua_close(L);
}
