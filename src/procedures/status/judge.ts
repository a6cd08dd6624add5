import type { StatusName } from '../../config/index.ts';

/** Something that `status` reports. A finding leads to exit code 3, a warning does not. */
export interface Judgement {
  level: 'finding' | 'warning';
  code: StatusName;
  /** What is wrong, with which input, and the next command. */
  message: string;
}

export function finding(code: StatusName, message: string): Judgement {
  return { level: 'finding', code, message };
}

export function warning(code: StatusName, message: string): Judgement {
  return { level: 'warning', code, message };
}

type Named = Pick<Judgement, 'code' | 'message'>;

/** All judgements, by what `status` does with them. */
export interface Settled {
  findings: readonly Named[];
  warnings: readonly Named[];
  /** Findings and warnings whose names are in `status.accept`. */
  accepted: readonly Judgement[];
}

/** Separates findings, warnings and those that the operator accepts (`status.accept`). */
export function settle(judgements: readonly Judgement[], accept: readonly StatusName[]): Settled {
  const isAccepted = ({ code }: Judgement) => accept.includes(code);
  const open = judgements.filter((one) => !isAccepted(one));
  const ofLevel = (level: Judgement['level']) =>
    open.filter((one) => one.level === level).map(({ code, message }) => ({ code, message }));
  return {
    findings: ofLevel('finding'),
    warnings: ofLevel('warning'),
    accepted: judgements.filter(isAccepted),
  };
}
