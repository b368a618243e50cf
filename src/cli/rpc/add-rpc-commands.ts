import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../core/errors.ts';
import { positiveNumber, splitNames, threadsOption } from '../parse-options.ts';
import type { CommandParts } from '../commands/command-parts.ts';
import type { DevicesFlags, ServeNatsFlags } from './nats-commands.ts';
import type { BenchFlags, RelayFlags, ServeFlags, TokenFlags } from './rpc-commands.ts';

type AnyServeFlags = Omit<ServeFlags, 'key'> &
  Omit<ServeNatsFlags, 'nats'> & { readonly key?: string; readonly nats?: string };

const tokenFile = new Option(
  '--token-file <file>',
  'file with the token; default: $WEFT_RPC_TOKEN',
);
const relayTokenFile = new Option(
  '--relay-token-file <file>',
  'file with the credential of the relay; default: $WEFT_RELAY_TOKEN, else derived from the token',
);
const relayAddress = new Option('--relay <url>', 'address of the relay').default(
  'ws://127.0.0.1:9190/',
);

const natsAuth = new Option(
  '--nats-auth <file>',
  'file with the token, nkey seed or credentials for NATS; default: $WEFT_NATS_AUTH',
);

/** `weft rpc …`. The code of the commands is loaded when one runs. */
export function addRpcCommands(program: Command, { terminal, run }: CommandParts): void {
  const commands = () => import('./rpc-commands.ts');
  const fleet = () => import('./nats-commands.ts');
  const serve = async ({ key, nats, ...flags }: AnyServeFlags): Promise<number> => {
    if (nats !== undefined && key === undefined) {
      return (await fleet()).serveNatsCommand({ ...flags, nats }, terminal);
    }
    if (key !== undefined && nats === undefined) {
      return (await commands()).serveCommand({ ...flags, key }, terminal);
    }
    throw new UsageError({
      where: 'weft rpc serve',
      got: nats === undefined ? 'neither --key nor --nats' : 'both --key and --nats',
      expected: 'the key for a relay, or the address of NATS',
    });
  };
  const rpc = program
    .command('rpc')
    .summary('serve devices to other processes and pages, or use theirs');
  rpc
    .command('token')
    .summary('print a new random token')
    .option('--relay', 'print the credential of the relay, derived from the token')
    .addOption(tokenFile)
    .action((flags: TokenFlags) =>
      run(commands().then(({ tokenCommand }) => tokenCommand(flags, terminal))),
    );
  rpc
    .command('relay')
    .summary('pair devices and clients by key')
    .option('--port <number>', 'port to listen on', positiveNumber, 9190)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--name <NAME,...>', 'names by which it is reached, besides addresses', splitNames)
    .option('--origin <ORIGIN,...>', 'pages that may connect; default: of this machine', splitNames)
    .option('--trust-proxy', 'take addresses from the X-Forwarded-For of a proxy')
    .addOption(relayTokenFile)
    .addOption(tokenFile)
    .action((flags: RelayFlags) =>
      run(commands().then(({ relayCommand }) => relayCommand(flags, terminal))),
    );
  rpc
    .command('serve')
    .summary('serve the devices of this machine, through a relay or over NATS')
    .option('--key <name>', 'the key that clients give the relay')
    .addOption(relayAddress)
    .option('--nats <url>', 'announce them at this broker instead: nats:, tls:, ws: or wss:')
    .option('--group <name>', 'the queue group, over NATS', 'any')
    .option('--name <name>', 'the name that clients see, over NATS')
    .option('--max-connections <n>', 'most clients at a time', positiveNumber, 8)
    .option('--device <KIND,...>', 'host, wasm, webgpu', devices, ['host'])
    .addOption(threadsOption())
    .addOption(tokenFile)
    .addOption(relayTokenFile)
    .addOption(natsAuth)
    .action((flags: AnyServeFlags) => run(serve(flags)));
  rpc
    .command('devices')
    .summary('list the devices that are served over NATS')
    .argument('[query...]', 'a query such as: class=software memory>=1GiB')
    .requiredOption('--nats <url>', 'nats:, tls:, ws: or wss:')
    .addOption(natsAuth)
    .action((query: readonly string[], flags: DevicesFlags) =>
      run(fleet().then(({ devicesCommand }) => devicesCommand(query.join(' '), flags, terminal))),
    );
  rpc
    .command('bench')
    .summary('time executables on remote devices')
    .argument('<files...>', '.weft, .onnx or .ir files')
    .requiredOption('--key <NAME,...>', 'remotes, all devices of each', splitNames)
    .option('--function <name>', 'the function to call', 'main')
    .option('--arg <N,...>', 'its arguments, ints', numbers)
    .option('--number <n>', 'runs of one repeat', positiveNumber, 1)
    .option('--repeat <n>', 'measurements', positiveNumber, 5)
    .option('--min-repeat-ms <n>', 'add runs until a repeat takes this long', positiveNumber, 0)
    .addOption(relayAddress)
    .addOption(tokenFile)
    .addOption(relayTokenFile)
    .action((files: readonly string[], flags: BenchFlags) =>
      run(commands().then(({ benchCommand }) => benchCommand(files, flags, terminal))),
    );
  for (const command of rpc.commands) command.copyInheritedSettings(rpc);
}

function devices(text: string): readonly string[] {
  const kinds = splitNames(text);
  if (kinds.every((kind) => ['host', 'wasm', 'webgpu'].includes(kind))) return kinds;
  throw new InvalidArgumentError('Write host, wasm, webgpu, or several with commas between them.');
}

function numbers(text: string): readonly number[] {
  const values = splitNames(text).map(Number);
  if (values.every(Number.isSafeInteger)) return values;
  throw new InvalidArgumentError('Write ints with commas between them.');
}
