-- What a real client has of the server: hints by the lines where they stand, and a hover. Run as
-- `nvim --headless --clean -l`, or with `-S` before 0.9; $STO is the command.
local function fail(message)
  io.stdout:write("failed: " .. tostring(message) .. "\n")
  vim.cmd("cquit")
end

local ok, message = pcall(function()
  local root = vim.fn.getcwd()
  vim.cmd("edit src/demo.c")
  local fresh = false
  local refreshes = 0
  vim.lsp.handlers["workspace/inlayHint/refresh"] = function()
    refreshes = refreshes + 1
    return vim.NIL
  end
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace = capabilities.workspace or {}
  capabilities.workspace.inlayHint = { refreshSupport = true }
  local id = vim.lsp.start_client({
    cmd = { vim.env.STO, "lsp" },
    root_dir = root,
    capabilities = capabilities,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = "demo" } },
  })
  vim.lsp.buf_attach_client(0, id)
  local function ask(method, params)
    params.textDocument = vim.lsp.util.make_text_document_params()
    local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
    return answers[id].result
  end
  -- Settings, costs, builds before.
  assert(vim.wait(60000, function() return refreshes >= 3 end), "no refresh")
  local hints = ask("textDocument/inlayHint", {
    range = { start = { line = 119, character = 0 }, ["end"] = { line = 130, character = 0 } },
  })
  for _, hint in ipairs(hints) do
    io.stdout:write((hint.position.line + 1) .. ": " .. hint.label .. "\n")
  end
  local hover = ask("textDocument/hover", { position = { line = 126, character = 40 } })
  io.stdout:write(hover.contents.value)
end)
if not ok then
  fail(message)
end
vim.cmd("qall!")
