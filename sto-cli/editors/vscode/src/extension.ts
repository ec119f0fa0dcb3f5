// Starts `sto lsp` beside the language's own server: all else is done there.
import { type ExtensionContext, workspace } from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  client = new LanguageClient("sto", "Sto", server(), options());
  context.subscriptions.push(client);
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function server(): ServerOptions {
  const settings = workspace.getConfiguration("sto");
  const store = settings.get("store", "");
  return {
    command: settings.get("serverPath", "sto"),
    args: store === "" ? ["lsp"] : ["--store", store, "lsp"],
    options: { cwd: workspace.workspaceFolders?.[0]?.uri.fsPath },
  };
}

function options(): LanguageClientOptions {
  return {
    // Profiles have sources of any language.
    documentSelector: [{ scheme: "file" }],
    initializationOptions: settings(),
    // The links of hovers. No other command is run, whatever stands in a profile.
    markdown: { isTrusted: { enabledCommands: ["sto.openFlameGraph", "sto.showDifference"] } },
    middleware: {
      workspace: {
        didChangeConfiguration: async () => {
          await client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
        },
      },
    },
    synchronize: { configurationSection: "sto" },
  };
}

/** What is set in the section `sto`, and what this client can do. */
function settings(): object {
  return { ...workspace.getConfiguration().get<object>("sto"), commandLinks: true };
}
