/** Commands that a person gives a run. */
export type StepCommand =
  | 'continue'
  | 'pause'
  | 'stepOver'
  | 'step'
  | 'stepOut'
  | 'stepBack'
  | 'stop';

/** The commands in the order of their buttons, with their keys: those that debuggers have. */
export const STEP_COMMANDS: readonly {
  readonly command: StepCommand;
  readonly name: string;
  readonly key: string;
}[] = [
  { command: 'continue', name: 'Continue', key: 'F5' },
  { command: 'pause', name: 'Pause', key: 'F6' },
  { command: 'stepBack', name: 'Step back', key: 'F8' },
  { command: 'stepOver', name: 'Step over', key: 'F10' },
  { command: 'step', name: 'Step into', key: 'F11' },
  { command: 'stepOut', name: 'Step out', key: 'Shift+F11' },
  { command: 'stop', name: 'Stop', key: 'Shift+F5' },
];

/** The command that a key gives. */
export function commandOf(event: KeyboardEvent): StepCommand | undefined {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const key = event.shiftKey ? `Shift+${event.key}` : event.key;
  return STEP_COMMANDS.find((each) => each.key === key)?.command;
}
