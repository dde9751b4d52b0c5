import type { Handler } from '../handler.ts';

export const getHealth: Handler<'getHealth'> = async (_request, { health }) => {
  const { checkedAt, nodes, skewSeconds, awaitsStandby, setAside } = await health.check();
  return {
    status: 200,
    body: {
      status: 'success',
      message: setAside === 0 ? 'operational' : `operational, ${setAside} events are set aside`,
      timestamp: checkedAt.toISOString(),
      parts: {
        database: { status: 'operational' },
        broker: { status: 'operational' },
        cluster: { status: 'operational', nodes },
        ...(awaitsStandby && { standby: { status: 'unavailable' } }),
        ...(skewSeconds !== undefined && { clock: { status: 'skewed', skew_seconds: skewSeconds } }),
      },
    },
  };
};
