import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../core/errors.ts';
import { positiveNumber, splitNames } from '../parse-options.ts';
import type { Terminal } from '../terminal.ts';
import type { DevicesFlags, ServeNatsFlags } from './nats-commands.ts';
import type { BenchFlags, RelayFlags, ServeFlags, TokenFlags } from './rpc-commands.ts';

type AnyServeFlags = Omit<ServeFlags, 'key'> &
  Omit<ServeNatsFlags, 'nats'> & { readonly key?: string; readonly nats?: string };

type Run = (command: Promise<number>) => Promise<void>;

const tokenFile = new Option('--token-file <file>', 'holds the token; else WEFT_RPC_TOKEN does');
const relayTokenFile = new Option(
  '--relay-token-file <file>',
  'holds what the relay knows; else WEFT_RELAY_TOKEN does, or it is derived from the token',
);
const relayAddress = new Option('--relay <url>', 'address of the relay').default(
  'ws://127.0.0.1:9190/',
);

const natsAuth = new Option(
  '--nats-auth <file>',
  'holds the token, nkey seed or credentials for NATS; else WEFT_NATS_AUTH does',
);

/** `weft rpc …`. What the commands stand on is loaded when one runs. */
export function addRpcCommands(program: Command, terminal: Terminal, run: Run): void {
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
    .summary('lend devices to other processes and pages, use theirs');
  rpc
    .command('token')
    .summary('print a new random token')
    .option('--relay', 'print what a relay may know of the token instead')
    .addOption(tokenFile)
    .action((flags: TokenFlags) =>
      run(commands().then(({ tokenCommand }) => tokenCommand(flags, terminal))),
    );
  rpc
    .command('relay')
    .summary('pair devices and clients by key')
    .option('--port <number>', 'where it listens', positiveNumber, 9190)
    .option('--host <address>', 'on which address', '127.0.0.1')
    .option('--origin <ORIGIN,...>', 'pages that may connect; default: of this machine', splitNames)
    .option('--trust-proxy', 'take addresses from the X-Forwarded-For of a proxy')
    .addOption(relayTokenFile)
    .addOption(tokenFile)
    .action((flags: RelayFlags) =>
      run(commands().then(({ relayCommand }) => relayCommand(flags, terminal))),
    );
  rpc
    .command('serve')
    .summary('lend the devices of this machine, through a relay or over NATS')
    .option('--key <name>', 'what clients ask the relay for')
    .addOption(relayAddress)
    .option('--nats <url>', 'announces them there instead: nats:, tls:, ws: or wss:')
    .option('--group <name>', 'the queue group, over NATS', 'any')
    .option('--name <name>', 'what clients see, over NATS')
    .option('--max-sessions <n>', 'clients at one time', positiveNumber, 8)
    .option('--device <KIND,...>', 'host, webgpu', devices, ['host'])
    .addOption(tokenFile)
    .addOption(relayTokenFile)
    .addOption(natsAuth)
    .action((flags: AnyServeFlags) => run(serve(flags)));
  rpc
    .command('devices')
    .summary('list the devices that are lent over NATS')
    .argument('[query...]', 'which, such as: class=software memory>=1GiB')
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
    .option('--function <name>', 'what is called', 'main')
    .option('--arg <N,...>', 'its arguments, ints', numbers)
    .option('--number <n>', 'runs of one repeat', positiveNumber, 1)
    .option('--repeat <n>', 'measurements', positiveNumber, 5)
    .option('--min-repeat-ms <n>', 'more runs until a repeat takes so long', positiveNumber, 0)
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
  if (kinds.every((kind) => kind === 'host' || kind === 'webgpu')) return kinds;
  throw new InvalidArgumentError('Write host, webgpu or both with a comma between them.');
}

function numbers(text: string): readonly number[] {
  const values = splitNames(text).map(Number);
  if (values.every(Number.isSafeInteger)) return values;
  throw new InvalidArgumentError('Write ints with commas between them.');
}
