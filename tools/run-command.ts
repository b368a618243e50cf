import { type Command, CommanderError } from 'commander';

/** Parses the arguments of a command and runs it. Resolves to the exit status; prints what was thrown. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  run: () => Promise<number>,
): Promise<number> {
  command.exitOverride();
  try {
    command.parse(args, { from: 'user' });
    return await run();
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode;
    console.error(thrown instanceof Error ? thrown.message : String(thrown));
    return 1;
  }
}
