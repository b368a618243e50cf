import { spawn } from 'node:child_process';

/** Runs a command to its end: whether it succeeded, and what it printed. */
export function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const pieces = [];
  child.stdout.on('data', (piece) => pieces.push(piece));
  child.stderr.on('data', (piece) => pieces.push(piece));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => {
      resolve({ isGood: status === 0, output: Buffer.concat(pieces).toString().trim() });
    });
  });
}

export const runNode = (args, options) => run(process.execPath, args, options);
