import { main } from '../main.ts';

/** The output of a run of the command, and its exit status. */
export interface CommandResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command for a test; `folder`, its temporary one, is left out of what it writes. */
export async function testCommand(folder: string, args: readonly string[]): Promise<CommandResult> {
  let out = '';
  let err = '';
  const status = await main([...args], {
    out: (text) => {
      out += text.replaceAll(folder, '');
    },
    err: (text) => {
      err += text.replaceAll(folder, '');
    },
    isInteractive: false,
  });
  return { status, out, err };
}
