import { type Command, InvalidArgumentError, Option } from 'commander';
import { positiveNumber, splitNames } from '../parse-options.ts';
import type { Terminal } from '../terminal.ts';
import type { BenchFlags, RelayFlags, ServeFlags } from './rpc-commands.ts';

type Run = (command: Promise<number>) => Promise<void>;

const tokenFile = new Option('--token-file <file>', 'holds the token; else WEFT_RPC_TOKEN does');
const relayAddress = new Option('--relay <url>', 'address of the relay').default(
  'ws://127.0.0.1:9190/',
);

/** `weft rpc …`. What the commands stand on is loaded when one runs. */
export function addRpcCommands(program: Command, terminal: Terminal, run: Run): void {
  const commands = () => import('./rpc-commands.ts');
  const rpc = program
    .command('rpc')
    .summary('lend devices to other processes and pages, use theirs');
  rpc
    .command('token')
    .summary('print a new random token')
    .action(() => run(commands().then(({ tokenCommand }) => tokenCommand(terminal))));
  rpc
    .command('relay')
    .summary('pair devices and clients by key')
    .option('--port <number>', 'where it listens', positiveNumber, 9190)
    .option('--host <address>', 'on which address', '127.0.0.1')
    .option('--origin <ORIGIN,...>', 'pages that may connect; default: of this machine', splitNames)
    .addOption(tokenFile)
    .action((flags: RelayFlags) =>
      run(commands().then(({ relayCommand }) => relayCommand(flags, terminal))),
    );
  rpc
    .command('serve')
    .summary('lend the devices of this machine')
    .requiredOption('--key <name>', 'what clients ask the relay for')
    .option('--device <KIND,...>', 'host, webgpu', devices, ['host'])
    .addOption(relayAddress)
    .addOption(tokenFile)
    .action((flags: ServeFlags) =>
      run(commands().then(({ serveCommand }) => serveCommand(flags, terminal))),
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
