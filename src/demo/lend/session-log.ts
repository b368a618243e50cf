import type { LendEvent } from './lend-messages.ts';

/** A client as the page shows it. */
export interface ShownSession {
  readonly peer: string;
  /** Functions that run, by how often. */
  readonly running: ReadonlyMap<string, number>;
  readonly loaded: number;
  readonly answered: number;
}

export type ShownSessions = ReadonlyMap<number, ShownSession>;

/** The sessions after an event. One that never came to `connected` is not shown. */
export function afterEvent(sessions: ShownSessions, event: LendEvent): ShownSessions {
  const next = new Map(sessions);
  if (event.kind === 'connected') {
    next.set(event.session, { peer: event.peer, running: new Map(), loaded: 0, answered: 0 });
    return next;
  }
  if (event.kind === 'closed') {
    next.delete(event.session);
    return next;
  }
  const session = sessions.get(event.session);
  if (session === undefined) return sessions;
  if (event.kind === 'load') {
    next.set(event.session, { ...session, loaded: session.loaded + 1 });
    return next;
  }
  const running = new Map(session.running);
  const isDone = event.kind === 'done';
  const count = (running.get(event.function) ?? 0) + (isDone ? -1 : 1);
  if (count > 0) running.set(event.function, count);
  else running.delete(event.function);
  next.set(event.session, { ...session, running, answered: session.answered + (isDone ? 1 : 0) });
  return next;
}

/** `main`, `main (3), step`, or a dash. */
export function describeRunning({ running }: ShownSession): string {
  const names = [...running].map(([name, count]) => (count > 1 ? `${name} (${count})` : name));
  return names.length === 0 ? '–' : names.join(', ');
}
