import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type BenchDevice, DEVICES, PEERS, type Peer } from './cases/bench-case.ts';
import { METHODS } from './methods.ts';

interface Values {
  readonly device: BenchDevice;
  readonly threads: number;
  readonly apart?: true;
  readonly peers: readonly Peer[];
  readonly case: RegExp;
  readonly runs?: number;
  readonly adapter: Adapter;
  readonly json?: string;
  readonly write?: true;
}

export type Adapter = 'software' | 'hardware';

/** SwiftShader, or graphics hardware. */
export const adapterOption = (byDefault: Adapter): Option =>
  new Option('--adapter <kind>', 'SwiftShader or graphics hardware')
    .choices(['software', 'hardware'])
    .default(byDefault);

export type BenchOptions = ReturnType<typeof parseOptions>;

/** Throws what {@link parsed} takes. */
export function parseOptions(args: readonly string[]) {
  const command = new Command('npm run bench --')
    .addOption(
      new Option('--device <name>', 'of Weft and the peers').choices(DEVICES).default('webgpu'),
    )
    .option('--threads <number>', 'of each runtime, with --device wasm', parseCount, 1)
    .option('--apart', 'several threads in a page that is not isolated')
    .option('--peers <list>', `of ${PEERS.join(',')}; none for Weft alone`, namesOf(PEERS), [
      ...PEERS,
    ])
    .option('--case <regexp>', 'cases whose name matches', (text) => new RegExp(text), /(?:)/)
    .option('--runs <number>', 'warm rounds of each runtime at most', parseCount)
    .addOption(adapterOption('software'))
    .option('--json <file>', 'write all figures there too')
    .option('--write', 'put the tables into docs/performance.md');
  const values = withArguments(command, args).opts<Values>();
  const { device, threads } = values;
  if (threads > 1 && device !== 'wasm') command.error('--threads is for --device wasm');
  return {
    ...values,
    /** True if pages are cross-origin isolated, without which peers have one thread. */
    isIsolated: threads > 1 && values.apart !== true,
    /** Warm runs of each runtime at most. */
    runs: values.runs ?? METHODS[device].rounds,
  };
}

/** The command with its arguments. Throws what {@link parsed} takes. */
export const withArguments = (command: Command, args: readonly string[]): Command =>
  command.exitOverride().allowExcessArguments(false).parse(args, { from: 'user' });

/** What `parse` gives of the arguments; else the exit status, after what is wrong was said, or help. */
export function parsed<Options>(parse: () => Options): Options | number {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** Throws for what is no number from 1 up. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('It has to be an integer from 1 up.');
}

/** A reader of lists of these names. */
export const namesOf =
  <Name extends string>(known: readonly Name[]) =>
  (list: string): Name[] => {
    const names = list.split(',').filter((name) => name !== '' && name !== 'none');
    const unknown = names.filter((name) => !known.some((one) => one === name));
    if (unknown.length > 0) throw new InvalidArgumentError(`There are ${known.join(', ')}.`);
    return known.filter((name) => names.includes(name));
  };
