import { type Command, Option } from 'commander';
import { parseCount } from '../parse-training.ts';
import type { CommandParts } from '../commands/command-parts.ts';
import type { ServeFlags } from './serve-command.ts';

/** `weft serve`. Its code is loaded when it is called. */
export function addServeCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('serve')
    .summary('serve a folder to pages of this machine')
    .description(
      'Serves a folder, or the folder of a file, on this machine only, as a page with models needs it: types, byte ranges and headers; and the files of this package below /weft-vm/.',
    )
    .argument('<path>', 'a file or a folder')
    .addOption(
      new Option('--port <N>', 'the port; default: one that is free')
        .argParser(parseCount)
        .default(0),
    )
    .option(
      '--csp <policy>',
      "a content security policy: none, strict (default-src 'self'), wasm (strict, and WebAssembly may be compiled), or its text",
      'none',
    )
    .option('--isolated', 'pages are cross-origin isolated, for threads that share memory')
    .option('--cors', 'pages of other origins may read the files')
    .addHelpText('after', HELP)
    .action((path: string, flags: ServeFlags) =>
      run(
        import('./serve-command.ts').then(({ serveFilesCommand }) =>
          serveFilesCommand(path, flags, terminal),
        ),
      ),
    );
}

const HELP = `
Examples:
  weft serve .                               index.html, or a list of files
  weft serve models/mnist.onnx --cors        for a page that another server sends
  weft serve site --csp wasm --isolated

A page finds this package at /weft-vm/: import { Session } from '/weft-vm/client.js'.`;
