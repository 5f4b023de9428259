package explain

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// japanese are words of Japanese, with the English ones that find the same.
var japanese = sync.OnceValue(func() *strings.Replacer {
	pairs := phrases(`
ロードバランサー, ロードバランサ, サーバーロードバランサー	loadbalancer
インスタンス	instance
クラスター内, クラスタ内, クラスター内部, クラスター内から	inside cluster
クラスター外, クラスタ外, クラスター外部, クラスター外から, 外部から, インターネットから	outside cluster
クラスター, クラスタ	cluster
アクセスできない, アクセスできません, 接続できない, 接続できません, 到達できない, つながらない, 繋がらない, アクセス不可	access
アクセス	access
サービス	service
アノテーション, 注釈	annotation
構成が変更, 設定が変更, 構成が変わ, 設定が変わ, 構成が勝手に, 設定が勝手に	configuration change
変更	change
構成されない, 構成されません, 作成されない, 作成されません, 設定されない	uncreated
構成, 設定, コンフィグ	configuration
既存	existing
再利用に失敗, 再利用できない, 再利用できません	reuse fail
再利用	reuse
失敗	fail
リスナー, リスナ	listener
サーバーグループ, サーバグループ, vserver グループ, vserverグループ	servergroup
グループ	group
更新されない, 更新されません, 古いまま	stale
更新	update
自動的に, 自動的, 自動	automatically
誤って, 間違って, うっかり, 誤操作	accidentally
削除されない, 削除されません, 残っている, 残る	left
削除	delete
名前変更, 名前を変更, リネーム, 名称変更	rename
古い, 以前	older
バージョン	version
目的, 用途, 役割	purpose
外部トラフィックポリシー, トラフィックポリシー	traffic policy
選択, 選ぶ, 選び, 使い分け	choose
同期	synchronization
イベントが表示されない, イベントが表示されません, イベントが出ない, イベントが見えない	invisible event
イベント	event
表示されない	invisible
表示	query
保留, ペンディング	pending
状態	state
作成中, 作成	create
ノード	node
重み, ウェイト, 加重	weight
モード	mode
照会, 一覧, クエリ, 確認する, 取得	query
名前	name
タイプ, 種類	type
アドレス	address
すべて, 全て	all
バックエンドサーバー, バックエンドサーバ	backend server
バックエンド	backend
置き換え, 交換, 入れ替え	replace
閉じる, 切断	close
正常に, グレースフル, 安全に	gracefully
接続, コネクション	connection
ドレイン	drain
アップグレードチェック	upgrade check
アップグレード	upgrade
コンポーネント	component
チェック, 検査	check
範囲	range
権限, アクセス許可	permission
追加	add
専用	dedicated
クォータ	quota
引き上げ, 増やす, 増加	increase
支払い遅延, 滞納, 未払い, 延滞	arrears
残高不足, 残高が不足, 残高	balance
スロットリング, スロットル, レート制限	throttling
ヘルスチェック	health check
証明書	certificate
期限切れ	expired
タイムアウト	timeout
不均等, 偏り, 偏る, 不均衡, 均等でない, 均等に分散されない	uneven
負荷分散, 負荷	load
トラフィック	traffic
ポッド	pod
アプリケーション, アプリ	application
固有	specific
デプロイ, ローリング, リリース	deploy
エラー, 問題, 方法, 対処, 解決, する, します, どう, なぜ, ください, こと, とき, 場合, 必要, 新しい, 際に, された, される, よくある質問, に関する, における, によって	
リージョン	region
ゾーン	zone
アカウント	account
利用可能, 空き	available
不足	sold out
コンソール	console
上書き	overwrite
スペック, 仕様	spec
帯域幅	bandwidth
課金	charge
ポート	port
見つからない, 見つかりません, 存在しない	nonexistent
突然, 予期せず, 勝手に	unexpectedly
`)
	type pair struct{ from, to string }
	var sorted []pair
	for i := 0; i < len(pairs); i += 2 {
		sorted = append(sorted, pair{pairs[i], pairs[i+1]})
	}
	slices.SortStableFunc(sorted, func(a, b pair) int { return cmp.Compare(len(b.from), len(a.from)) })
	pairs = pairs[:0]
	for _, p := range sorted {
		pairs = append(pairs, p.from, p.to)
	}
	return strings.NewReplacer(pairs...)
})

// kana reports whether a text has letters that only Japanese has.
func kana(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
}

// isChinese reports whether a text is in Chinese.
func isChinese(text string) bool {
	return !kana(text) && strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// translated replaces words of a Japanese text, in which Chinese letters have other senses, and
// Chinese words that only questions have, by English ones.
func translated(text string) string {
	if kana(text) {
		text = japanese().Replace(text)
		return strings.Map(func(r rune) rune {
			if r > unicode.MaxASCII {
				return ' '
			}
			return r
		}, text)
	}
	return questions().Replace(text)
}

// questions are words of Chinese that questions have, and messages do not.
var questions = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(phrases(`
升级检查, 升级前检查, 升级预检	upgrade check
升级失败	upgrade fail
组件	component
被修改, 被改, 被覆盖, 自动改回, 改回去	configuration change
配置	configuration
用途, 作用, 干什么	purpose
怎么选, 如何选择, 选择	choose
查询, 查看, 列出, 获取	query
优雅, 平滑, 无损	gracefully
下线	close
自动	automatically
计算	calculate
设置	set
加权, 权值	weight
名称, 名字	name
策略	policy
区别, 差异	difference
提升, 提高, 申请, 扩大, 调大	increase
自建集群, 自建	self built cluster
已有, 已存在, 现有	existing
范围	range
专有版, 专有集群	dedicated
恢复, 找回	recover
分布, 分发	distribution
倾斜	uneven
带宽	bandwidth
支付类别, 计费类型, 付费类型	charge type
新建, 新创建	create
旧版本, 老版本	old version
支持, 过程, 处于	
状态	state
是否会, 是否	also
同步	sync
`)...)
})
