// Calls SelectMergeStacktraces by Connect and gRPC, and prints the functions and the code of an error.
const { createClient } = require('@connectrpc/connect');
const { createConnectTransport, createGrpcTransport } = require('@connectrpc/connect-node');
const { createFileRegistry, fromJson } = require('@bufbuild/protobuf');
const { FileDescriptorProtoSchema } = require('@bufbuild/protobuf/wkt');

const [baseUrl, profileTypeID, labelSelector] = process.argv.slice(2);

// The part of querier/v1/querier.proto that is used.
const field = (number, name, type, more) => ({ number, name, type: `TYPE_${type}`, label: 'LABEL_OPTIONAL', ...more });
const list = (number, name, type, more) => ({ ...field(number, name, type, more), label: 'LABEL_REPEATED' });
const of = (name) => ({ typeName: `.querier.v1.${name}` });
const request = [field(1, 'profile_typeID', 'STRING'), field(2, 'label_selector', 'STRING'), field(3, 'start', 'INT64'), field(4, 'end', 'INT64')];
const graph = [list(1, 'names', 'STRING'), list(2, 'levels', 'MESSAGE', of('Level')), field(3, 'total', 'INT64'), field(4, 'max_self', 'INT64')];
const file = fromJson(FileDescriptorProtoSchema, {
  name: 'querier.proto',
  package: 'querier.v1',
  syntax: 'proto3',
  messageType: [
    { name: 'Request', field: request },
    { name: 'Response', field: [field(1, 'flamegraph', 'MESSAGE', of('FlameGraph'))] },
    { name: 'FlameGraph', field: graph },
    { name: 'Level', field: [list(1, 'values', 'INT64')] },
  ],
  service: [{ name: 'QuerierService', method: [{ name: 'SelectMergeStacktraces', inputType: '.querier.v1.Request', outputType: '.querier.v1.Response' }] }],
});
const service = createFileRegistry(file, () => undefined).getService('querier.v1.QuerierService');

async function main() {
  const transports = [
    createConnectTransport({ baseUrl, httpVersion: '1.1' }),
    createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: true }),
    createGrpcTransport({ baseUrl }),
  ];
  for (const transport of transports) {
    const client = createClient(service, transport);
    const right = { profileTypeID, labelSelector, start: 0n, end: BigInt(Date.now()) };
    const { flamegraph } = await client.selectMergeStacktraces(right);
    const wrong = await client.selectMergeStacktraces({ ...right, labelSelector: '{' }).catch(({ code }) => code);
    console.log(flamegraph.names.join(' '), String(flamegraph.total), wrong);
  }
  process.exit(0); // Connections stay open.
}

main();
