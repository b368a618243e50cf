import { Argument, type Command } from 'commander';
import { completionScript, type Shell, SHELLS } from '../complete.ts';
import type { CommandParts } from './command-parts.ts';

/** Adds the command `weft completion`. */
export function addCompletionCommand(program: Command, { terminal }: CommandParts): void {
  program
    .command('completion')
    .summary('print a script that completes commands in a shell')
    .description('Prints a script that completes commands, options and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: Shell) => terminal.out(completionScript(program, shell)));
}

const HELP = `
Examples:
  source <(weft completion bash)             in ~/.bashrc
  source <(weft completion zsh)              in ~/.zshrc, behind compinit
  weft completion fish | source              in ~/.config/fish/config.fish`;
