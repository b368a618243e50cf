import type { Command } from 'commander';
import { type ExportFlags, exportCommand } from '../export-command.ts';
import { collectPairs } from '../parse-options.ts';
import type { CommandParts } from './command-parts.ts';

/** Adds the command `weft export`. */
export function addExportCommand(program: Command, { terminal, run }: CommandParts): void {
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
}
