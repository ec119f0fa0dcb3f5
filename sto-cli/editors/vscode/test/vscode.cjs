// As much of VS Code's API as the language client needs to talk to a server: documents that are open, and the
// providers that it registers, which a test asks as the editor does.
const { pathToFileURL, fileURLToPath } = require("node:url");

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
}

class EventEmitter {
  #listeners = new Set();
  event = (listener, self) => {
    const bound = listener.bind(self);
    this.#listeners.add(bound);
    return new Disposable(() => this.#listeners.delete(bound));
  };
  fire(value) {
    this.#listeners.forEach((listener) => listener(value));
  }
  dispose() {}
}

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = new URL(text).protocol.slice(0, -1);
    this.fsPath = fileURLToPath(text);
  }
  static parse = (text) => new Uri(text);
  static file = (path) => new Uri(pathToFileURL(path).href);
  toString() {
    return this.text;
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(start, end) {
    Object.assign(this, { start, end });
  }
}

class InlayHint {
  constructor(position, label) {
    Object.assign(this, { position, label });
  }
}

class MarkdownString {
  constructor(value = "") {
    this.value = value;
  }
}

class Hover {
  constructor(contents) {
    this.contents = [contents].flat();
  }
}

class CancellationTokenSource {
  token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event };
  cancel() {}
  dispose() {}
}

/** What a name of a namespace stands for that no test looks at. */
const member = (name) => (name.startsWith("on") ? new EventEmitter().event : () => new Disposable());
/** What such a name of the whole stands for. */
const part = (name) => (/^[A-Z]/.test(name) ? class {} : namespace({}));

function namespace(known, other = member) {
  const get = (target, name) => {
    if (typeof name === "string" && !(name in target)) {
      target[name] = other(name);
    }
    return target[name];
  };
  return new Proxy(known, { get });
}

const channel = namespace({ dispose() {}, append: console.error, appendLine: console.error });
const changed = new EventEmitter();
const commands = [];
const shown = [];
const providers = {};
const provided = new EventEmitter();
const register = (kind) => (_selector, provider) => {
  providers[kind] = provider;
  provided.fire(kind);
  return new Disposable();
};

const known = {
  CancellationTokenSource,
  Disposable,
  EventEmitter,
  Hover,
  InlayHint,
  MarkdownString,
  Position,
  Range,
  Uri,
  // Not of VS Code: for tests.
  test: { changed, commands, providers, provided, settings: {}, shown },
  commands: namespace({
    registerCommand: (name) => {
      commands.push(name);
      return new Disposable();
    },
  }),
  env: namespace({ appName: "test", language: "en" }),
  languages: namespace({
    createDiagnosticCollection: () => namespace({ dispose() {} }),
    match: () => 10,
    registerHoverProvider: register("hover"),
    registerInlayHintsProvider: register("inlayHints"),
  }),
  version: "1.91.0",
  window: namespace({
    createOutputChannel: () => channel,
    showErrorMessage: async (text) => void shown.push(text),
    showWarningMessage: async (text) => void shown.push(text),
    showInformationMessage: async (text) => void shown.push(text),
    tabGroups: namespace({ all: [] }),
    visibleTextEditors: [],
  }),
  workspace: namespace({
    getConfiguration: (section) => ({
      get: (name, usual) => (section ? module.exports.test.settings[name] : module.exports.test.settings) ?? usual,
    }),
    notebookDocuments: [],
    onDidChangeConfiguration: changed.event,
    textDocuments: [],
    workspaceFolders: [],
  }),
};
module.exports = namespace(known, part);
