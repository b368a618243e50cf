import { Argument, Command, CommanderError, Option } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { UsageError } from '../core/errors.ts';
import {
  checkCommand,
  type CheckFlags,
  compareCommand,
  type CompareFlags,
} from './check-command.ts';
import { completionScript, type Shell, SHELLS } from './complete.ts';
import { type CompileFlags, compileCommand } from './compile-command.ts';
import { type ExportFlags, exportCommand } from './export-command.ts';
import { type GradFlags, gradCommand } from './grad-command.ts';
import { type InspectFlags, inspectCommand } from './inspect-command.ts';
import { type OptFlags, optCommand } from './opt-command.ts';
import { collectDispatch } from './parse-dispatch.ts';
import {
  budgetOption,
  collectDims,
  collectLimits,
  collectNodeTypes,
  collectPairs,
  inputsOption,
  memoryBudgetOption,
  positiveNumber,
  parseDevices,
  splitNames,
  threadsOption,
} from './parse-options.ts';
import {
  LOSSES,
  OPTIMIZERS,
  parseClip,
  parseCount,
  parseLora,
  parseLoss,
  parseLossScale,
  parseOptimizer,
  parseRate,
  parseSchedule,
  SCHEDULES,
} from './parse-training.ts';
import { addBenchCommand } from './bench/add-bench-command.ts';
import type { AnswerFlags } from './check/answer-command.ts';
import { addServeCommand } from './serve/add-serve-command.ts';
import { addRpcCommands } from './rpc/add-rpc-commands.ts';
import { parseBits, parseCosine } from './quantize/parse-quantize.ts';
import { quantizeCommand } from './quantize/quantize-command.ts';
import type { QuantizeFlags } from './quantize/quantize-flags.ts';
import { type RunFlags, runCommand } from './run-command.ts';
import { writeError } from './report.ts';
import { endWithReader, processTerminal, type Terminal } from './terminal.ts';
import { CACHE_TYPES } from '../core/text-layout.ts';
import { QUANTIZATIONS } from '../frontend/text/weight-quantizer.ts';
import { type TextFlags, textCommand } from './text-command.ts';
import type { ViewFlags } from './view/view-command.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/** The `weft` command. Resolves to the exit status: 0, 1 for a failure, 2 for wrong usage. */
export async function main(
  args: readonly string[],
  terminal: Terminal = processTerminal,
): Promise<number> {
  let status = 0;
  const run = async (command: Promise<number>): Promise<void> => {
    status = await command;
  };
  if (terminal === processTerminal) endWithReader();
  try {
    await makeProgram(terminal, run).parseAsync([...args], { from: 'user' });
    return status;
  } catch (error) {
    // Commander has written its message already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    writeError(terminal, error, { command: args[0] ?? '', isJson: args.includes('--json') });
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILURE;
  }
}

type Run = (command: Promise<number>) => Promise<void>;

function makeProgram(terminal: Terminal, run: Run): Command {
  const program = new Command('weft')
    .description('Compiles neural networks to executables for a tensor VM, and runs them.')
    .version(packageFile.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
    })
    .showHelpAfterError('(add --help for usage)')
    .addHelpText('after', HELP);
  const dims = new Option(
    '--dim <NAME=N>',
    'fix a symbolic dimension of an ONNX model; repeatable',
  ).argParser(collectDims);
  const dispatch = new Option(
    '--dispatch <FUNCTION.INPUT.AXIS=INTERVALS>',
    'make clones for intervals of sizes (1:2,2:4 or log:1:64 or uniform:1:64:8); repeatable',
  ).argParser(collectDispatch);
  const check = new Option(
    '--check <WHAT>',
    'check indices that an ONNX model computes while it runs',
  ).choices(['indices']);
  const limit = new Option(
    '--limit <NAME=N>',
    'change a limit of the compiler: nodes, foldedBytes, milliseconds; repeatable',
  ).argParser(collectLimits);

  const functions = new Option(
    '--function <DOMAIN::OPERATOR=TYPE>',
    'the type of a function of JavaScript that computes nodes of an ONNX model; repeatable',
  ).argParser(collectNodeTypes);
  const devices = new Option(
    '--devices <KIND,KIND>',
    'place parts on both, webgpu,wasm, wherever a run then takes less time',
  ).argParser(parseDevices);

  program
    .command('compile')
    .summary('compile a model or a program to a .weft file')
    .description(
      'Compiles an ONNX model, or a program as text, to an executable that any Weft session loads.',
    )
    .argument('<file>', 'an .onnx model or an .ir program')
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .addOption(dims)
    .addOption(dispatch)
    .addOption(devices)
    .addOption(memoryBudgetOption())
    .addOption(limit)
    .addOption(check)
    .option('--pass <FILE,...>', '.js, .ts and .rules files with passes that run too', splitNames)
    .addOption(functions)
    .option('--dump', 'print the program after each pass')
    .option('--dump-after <PASS,...>', 'print the program after these passes', splitNames)
    .addHelpText('after', COMPILE_HELP)
    .action((path: string, flags: CompileFlags) => run(compileCommand(path, flags, terminal)));

  program
    .command('grad')
    .summary('write the program that trains a model')
    .description(
      'Writes an executable that trains an ONNX model: forward pass, loss, derivatives and update as one program.',
    )
    .argument('<file>', 'an .onnx model')
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .requiredOption(
      '--wrt <PATTERN,...>',
      'the initializers to train; * stands for any characters',
      splitNames,
    )
    .addOption(
      new Option('--loss <LOSS[:SETTINGS]>', 'the loss, of an output')
        .argParser(parseLoss)
        .makeOptionMandatory(),
    )
    .option('--of <OUTPUT>', 'the output that the loss is of; default: the first')
    .option('--targets <DTYPE>', 'the dtype of what is wanted; default: int64 for classes')
    .addOption(
      new Option('--optimizer <NAME[:SETTINGS]>', 'default: adamw').argParser(parseOptimizer),
    )
    .addOption(
      new Option('--lr <RATE>', 'the learning rate, or input; default: 0.001').argParser(parseRate),
    )
    .addOption(
      new Option('--schedule <NAME[:SETTINGS]>', 'default: constant').argParser(parseSchedule),
    )
    .addOption(new Option('--clip <norm=N,value=N>', 'limits of gradients').argParser(parseClip))
    .addOption(
      new Option('--loss-scale <N>', 'a factor of the loss, or dynamic').argParser(parseLossScale),
    )
    .addOption(
      new Option('--lora <RANK[:ALPHA]>', 'train factors beside the matrices').argParser(parseLora),
    )
    .addOption(new Option('--batch <N>', 'the first dimension of all inputs').argParser(parseCount))
    .addOption(new Option('--seed <N>', 'of the factors of --lora').argParser(parseCount))
    .addOption(memoryBudgetOption())
    .addOption(dims)
    .addOption(limit)
    .addHelpText('after', GRAD_HELP)
    .action((path: string, flags: GradFlags) => run(gradCommand(path, flags, terminal)));

  program
    .command('export')
    .summary('write trained weights back into their model')
    .description('Writes an .onnx model, or a .weft file of it, with the weights of a training.')
    .argument('<file>', 'the .onnx model that is trained')
    .requiredOption('--training <file.weft>', 'what weft grad made of it')
    .option('--snapshot <file>', 'a snapshot of a session, with the state among its tensors')
    .option('--tensor <NAME=FILE>', 'a weight as .npy, .pb or .json; repeatable', collectPairs)
    .requiredOption('-o, --output <file>', 'an .onnx or a .weft file')
    .action((path: string, flags: ExportFlags) => run(exportCommand(path, flags, terminal)));

  program
    .command('text')
    .summary('write the program that generates text with a model')
    .description(
      'Writes an executable that generates text with a language model: the model, its caches and the drawing of tokens as one program.',
    )
    .argument(
      '<file>',
      'an .onnx model with past_key_values, a .gguf file, or .safetensors with config.json beside it',
    )
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .addOption(limit)
    .addOption(
      new Option('--context <N>', 'positions to reach, of .gguf and .safetensors').argParser(
        parseCount,
      ),
    )
    .addOption(
      new Option('--quantize <format>', 'round weights to blocks of 8 or 4 bits').choices(
        QUANTIZATIONS,
      ),
    )
    .addOption(
      new Option(
        '--cache-type <type>',
        'what caches of keys and values hold; default: what the model says',
      ).choices(CACHE_TYPES),
    )
    .addHelpText('after', TEXT_HELP)
    .action((path: string, flags: TextFlags) => run(textCommand(path, flags, terminal)));

  program
    .command('quantize')
    .summary('round the weights of a model')
    .description(
      'Writes an .onnx model with weights of 8 or 4 bits or in float16, or a .weft file of it, and says how far its values moved.',
    )
    .argument('<file>', 'an .onnx model')
    .requiredOption('-o, --output <file>', 'an .onnx or a .weft file')
    .addOption(
      new Option(
        '--bits <N>',
        'of the weights of MatMul and Gemm; 16: the model computes in float16',
      )
        .default(8)
        .argParser(parseBits),
    )
    .option(
      '--weights-only',
      'activations stay float where there are samples; with 16 bits the model computes in float32',
    )
    .addOption(
      new Option('--block <N>', 'elements that share a scale: a power of two from 16 up')
        .default(32)
        .argParser(parseCount),
    )
    .option('--symmetric', 'half of the range of codes stands for 0; default: zero points')
    .option('--keep <NAME,...>', 'nodes whose weights stay as they are', splitNames)
    .option(
      '--calibrate <DIR>',
      'samples of inputs, to calibrate activations with and to compare on; default: random inputs',
    )
    .addOption(
      new Option(
        '--cosine <N>',
        'the least cosine of outputs, for which layers stay float; default: docs/quantize.md',
      ).argParser(parseCosine),
    )
    .addOption(new Option('--samples <N>', 'random inputs').argParser(parseCount).default(8))
    .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
    .option('--no-run', 'compare no outputs')
    .addOption(dims)
    .addOption(limit)
    .addHelpText('after', QUANTIZE_HELP)
    .action((path: string, flags: QuantizeFlags) => run(quantizeCommand(path, flags, terminal)));

  program
    .command('opt')
    .summary('run passes of the compiler on a program')
    .description('Reads a program, runs passes on it in the order given, and prints it as text.')
    .argument('<file>', 'an .ir program or an .onnx model')
    .option(
      '--pass <PASS,...>',
      'the passes, or .js, .ts and .rules files with passes; none: the program is only read',
      splitNames,
    )
    .option('--time', 'say how long each pass takes')
    .option('--diff', 'show what each pass changes')
    .option(
      '--bisect <NAME=FILE>',
      'find the first pass that changes the result for these inputs; repeatable',
      collectPairs,
    )
    .option('--explain', 'say which rewrite rules applied, how often and where')
    .option('-o, --output <file.ir>', 'the output file; default: the terminal')
    .addOption(dims)
    .addOption(dispatch)
    .addOption(memoryBudgetOption())
    .addHelpText('after', OPT_HELP)
    .action((path: string, flags: OptFlags) => run(optCommand(path, flags, terminal)));

  program
    .command('inspect')
    .summary('list a program')
    .description(
      'Says what a .weft file costs, or the result of compiling another file, and lists its functions and bytecode.',
    )
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(new Option('--ts', 'TypeScript that builds the same executable').conflicts('stats'))
    .option('--all', 'also instructions for memory and sizes, and tables')
    .option('--data', 'a listing of all with weights, which can be parsed back')
    .option('--stats', 'counts of functions, registers, constants and bytes')
    .addOption(
      new Option(
        '--kernel-source [name]',
        'the code that a device runs for a kernel; without a name for all',
      ).conflicts(['ts', 'all', 'data', 'stats']),
    )
    .addOption(
      new Option('--device <device>', 'the device of --kernel-source')
        .choices(['auto', 'host', 'wasm', 'webgpu'])
        .default('auto'),
    )
    .addOption(dims)
    .addOption(limit)
    .action((path: string, flags: InspectFlags) => run(inspectCommand(path, flags, terminal)));

  program
    .command('view')
    .summary('look at a program in a browser')
    .description(
      'Serves the inspector with a .weft file, or with the result of compiling another file, on this machine only.',
    )
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .addOption(
      new Option('--port <N>', 'the port; default: one that is free')
        .argParser(parseCount)
        .default(0),
    )
    .addOption(
      new Option('--device <device>', 'the device of the browser that runs it')
        .choices(['auto', 'host', 'wasm', 'webgpu'])
        .default('auto'),
    )
    .addOption(dims)
    .addOption(limit)
    .action((path: string, flags: ViewFlags) =>
      run(
        import('./view/view-command.ts').then(({ viewCommand }) =>
          viewCommand(path, flags, terminal),
        ),
      ),
    );

  program
    .command('run')
    .summary('run a program once')
    .description('Runs the function main of a .weft, .onnx or .ir file and prints its outputs.')
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .option(
      '-i, --input <NAME=FILE>',
      'a .pb, .npy or .json file (a number for an int or float input); repeatable',
      collectPairs,
    )
    .option(
      '-o, --output <NAME=FILE>',
      'write an output as .npy or .json; repeatable',
      collectPairs,
    )
    .option(
      '--expect <NAME=FILE>',
      'compare an output with a .pb, .npy or .json file; repeatable',
      collectPairs,
    )
    .option('--function <name>', 'the function to run; default: main')
    .option('--rtol <number>', 'relative tolerance of --expect', positiveNumber, 1e-3)
    .option('--atol <number>', 'absolute tolerance of --expect', positiveNumber, 1e-5)
    .addOption(
      new Option('--device <device>', 'the device to run on')
        .choices(['auto', 'host', 'wasm', 'webgpu', 'browser'])
        .default('auto'),
    )
    .addOption(threadsOption())
    .addOption(dims)
    .addOption(dispatch)
    .addOption(limit)
    .addOption(check)
    .option('--profile', 'run twice and print the kernels of the second run with their times')
    .addHelpText('after', RUN_HELP)
    .action((path: string, flags: RunFlags) => run(runCommand(path, flags, terminal)));

  /** Of commands that run `main` beside something else. */
  const localDevices = ['auto', 'host', 'wasm', 'webgpu'];
  const runsBeside = (
    command: Command,
    tolerance: string,
    devices: readonly string[] = localDevices,
  ): Command =>
    command
      .argument('<file>', 'a .weft, .onnx or .ir file')
      .addOption(inputsOption())
      .addOption(
        new Option(
          '--tolerance <SHARE>',
          `of the range of a value; default: ${tolerance}`,
        ).argParser(positiveNumber),
      )
      .addOption(new Option('--seed <N>', 'of random inputs').argParser(parseCount).default(1))
      .option('--function <name>', 'the function to run; default: main')
      .addOption(
        new Option('--device <device>', 'the device to run on').choices(devices).default('auto'),
      )
      .addOption(threadsOption())
      .addOption(dims)
      .addOption(limit);

  const checks = program
    .command('check')
    .summary('say whether a program runs, where, and what it costs')
    .description(
      'Says of a .weft, .onnx or .ir file whether it runs on a device, what runs elsewhere and why, and its download, memory, sizes and risks of float16. With --verify: runs it beside the same instructions in float32, and names the first value that departs.',
    )
    .addOption(budgetOption())
    .option('--verify', 'run it, and compare with float32');
  runsBeside(checks, '0.05')
    .addHelpText('after', CHECK_HELP)
    .action((path: string, flags: CheckFlags & AnswerFlags) => {
      if (flags.verify === true) return run(checkCommand(path, flags, terminal));
      return run(
        import('./check/answer-command.ts').then(({ answerCommand }) =>
          answerCommand(path, flags, terminal),
        ),
      );
    });

  const compares = program
    .command('compare')
    .summary('compare a device with another one')
    .description(
      'Runs the function main of a .weft, .onnx or .ir file beside the same instructions on another device, and names the first value that departs. With a second file: beside another compilation of the same source, or against values by their names.',
    )
    .addOption(
      new Option('--against <device>', 'the device that is right')
        .choices(['host', 'wasm'])
        .default('host'),
    );
  runsBeside(compares, '0.001', [...localDevices, 'browser'])
    .argument(
      '[second]',
      'a .weft, .onnx or .ir file of the same source, a .npz file, or a folder with a .npy, .pb or .json file for each value',
    )
    .action((path: string, second: string | undefined, flags: CompareFlags) =>
      run(compareCommand(path, second, flags, terminal)),
    );

  addBenchCommand(program, { terminal, run, options: [dims, limit] });
  addServeCommand(program, { terminal, run });

  program
    .command('completion')
    .summary('print a script that completes commands in a shell')
    .description('Prints a script that completes commands, options and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: Shell) => terminal.out(completionScript(program, shell)));

  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    const hasJson = command.options.some(({ long }) => long === '--json');
    if (!hasJson && command.name() !== 'completion') {
      command.option('--json', 'print what was found as JSON');
    }
  }
  addRpcCommands(program, terminal, run);
  return program;
}

const HELP = `
Examples:
  weft compile model.onnx -o model.weft      compile once ...
  weft inspect model.weft                    ... see what it became ...
  weft run model.weft --input x=x.npy        ... and run it

An .onnx file or a program as text (.ir) works wherever a .weft file does; it is then compiled first.
Exit status: 0, 1 when something failed, 2 for wrong usage.`;

const COMPILE_HELP = `
Examples:
  weft compile mnist.onnx -o mnist.weft
  weft compile bert.onnx -o bert.weft --dim batch=1 --dim sequence=128
  weft compile mnist.onnx -o mnist.weft --dump | less
  weft compile program.ir -o program.weft --dump-after fuse,to-anf
  weft compile bert.onnx -o bert.weft --dispatch main.input_ids.1=log:1:512:2`;

const GRAD_HELP = `
Examples:
  weft grad model.onnx --loss cross-entropy --wrt '*.weight,*.bias' -o train.weft
  weft grad model.onnx --loss cross-entropy:smoothing=0.1 --wrt '*' --optimizer adamw:decay=0.1 \\
    --lr 3e-4 --schedule cosine:steps=2000,warmup=100 --clip norm=1 --batch 32 -o train.weft
  weft grad llm.onnx --loss output --wrt '*.qkv.*' --lora 8:16 -o train.weft

Losses: ${Object.keys(LOSSES).join(', ')}.
Optimisers: ${Object.keys(OPTIMIZERS).join(', ')}.
Schedules: ${Object.keys(SCHEDULES).join(', ')}.
The functions of the executable, and all settings: docs/training.md.`;

const TEXT_HELP = `
Examples:
  weft text stories/onnx/model_fp16.onnx -o stories/model.weft
  weft text llama.gguf -o llama/model.weft
  weft text qwen/model.safetensors -o qwen/model.weft --context 4096 --quantize q4_0
  weft text qwen/model.safetensors -o qwen/model.weft --cache-type float16

TextModel of weft-vm/text loads the folder, with config.json and tokenizer.json beside the executable (of .gguf they
are written): docs/text.md.`;

const QUANTIZE_HELP = `
Examples:
  weft quantize model.onnx -o model-q8.onnx
  weft quantize model.onnx -o model-q4.onnx --bits 4 --block 32 --symmetric
  weft quantize model.onnx -o model.weft --calibrate samples
  weft quantize model.onnx -o model-f16.onnx --bits 16

A sample is a folder with a file for each input, NAME.npy, .pb or .json, or input_0.pb and so on.
What becomes of which operator, and what it costs: docs/quantize.md.`;

const CHECK_HELP = `
Examples:
  weft check model.onnx                      before anything ships
  weft check model.onnx --budget 500MB --device wasm --dim batch=1
  weft check model.onnx --verify --input x=x.npy

Without --verify nothing is run: --input, --tolerance, --seed, --function and --threads are for --verify.
The exit status is 1 where it does not run, is over the budget, or a value departs.`;

const OPT_HELP = `
Examples:
  weft opt program.ir                        check it, and print it in standard style
  weft opt program.ir --pass infer-types     see all types
  weft opt model.onnx --pass fold-constants,simplify,fuse
  weft opt model.onnx --pass simplify,recognize-operators --explain
  weft opt model.onnx --time                 all passes of weft compile, with their times ...
  weft opt program.ir --diff                 ... or what each changes ...
  weft opt program.ir --bisect x=x.npy       ... or the first that changes what main gives
  weft opt program.ir --pass ./mine.js       a pass of your own, the default export of a module

Types are inferred before the first pass that needs them. bind-dims takes --dim,
dispatch-by-shape --dispatch, and rematerialize --memory-budget. An unknown name lists all passes.`;

const COMPLETION_HELP = `
Examples:
  source <(weft completion bash)             in ~/.bashrc
  source <(weft completion zsh)              in ~/.zshrc, behind compinit
  weft completion fish | source              in ~/.config/fish/config.fish`;

const RUN_HELP = `
Examples:
  weft run mnist.weft --input Input3=digit.npy
  weft run mnist.onnx --input Input3=input_0.pb --expect Plus214_Output_0=output_0.pb
  weft run mnist.weft --input Input3=digit.json --output Plus214_Output_0=logits.npy
  weft run life.weft --input board=board.npy --input steps=100 --profile

Devices: webgpu needs the package "webgpu" (npm install webgpu) and takes any adapter; auto takes
it where it finds graphics hardware and says so when it does not; host needs nothing and is slow; browser
starts a Chrome, Chromium or Edge without a window, the one that WEFT_BROWSER names or one that is found.`;
