package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// wrapped replaces what a CCM, Kubernetes and SDKs put around a message, and gives words of
// several spellings one.
var wrapped = strings.NewReplacer("apply model error:", " ", "update lb attribute error:", " ", "update nlb attribute error:", " ", "update listener error:", " ", "create lb error:", " ", "create slb error:", " ",
	"reconciler error", " ", "there are unprocessed listeners in reconcile", " ", "error syncing load balancer", " ", "error deleting load balancer", " ", "alibaba-cloud-sdk-go", " ",
	"load balancer", "loadbalancer", "v switch", "vswitch", "can't", "can not", "cannot", "can not", "n't", " not", "throttlingxxx", "throttling", "vserver group", "servergroup", "server group", "servergroup", "v server", "vserver", "eni id", "eniid", "does not exist", "nonexistent", "not exist", "nonexistent", "not found", "nonexistent", "not be found", "nonexistent", ".notfound", " nonexistent", "not working", "not effective", "n't working", " not effective", "n't work", " not effective", "not work", "not effective")

// columns are fields of lines that say nothing of the error in them.
var columns = map[string]bool{"syncloadbalancerfailed": true, "cleanloadbalancerfailed": true, "service-controller": true, "nlb-controller": true, "sdk.servererror": true, "sdk.clienterror": true, "sdkerror": true, "errorcode": true, "requestid": true, "statuscode": true}

// chinese are words of Chinese, with the English ones that find the same.
var chinese = map[string]string{
	"欠费": "arrears", "逾期": "arrears", "余额": "balance", "不足": "", "账号": "account", "账户": "account", "帐号": "account", "帐户": "account", "账单": "bill", "充值": "top up",
	"限流": "throttling", "流控": "throttling", "流量控制": "throttling", "限速": "throttling", "交换机": "vswitch", "虚拟交换机": "vswitch", "配额": "quota", "额度": "quota", "超限": "quota", "上限": "quota limit",
	"售罄": "sold out", "停售": "discontinued", "缺货": "sold out", "库存": "sold out", "可用区": "zone", "地域": "region", "负载均衡": "loadbalancer", "负载均衡实例": "loadbalancer", "传统型负载均衡": "loadbalancer", "网络型负载均衡": "nlb", "实例": "instance",
	"监听": "listener", "监听器": "listener", "后端": "backend", "后端服务器": "backend server", "服务器": "server", "服务器组": "servergroup", "虚拟服务器组": "vserver group", "健康检查": "health check", "证书": "certificate", "过期": "expired",
	"资源组": "resource group", "删除保护": "deletion protection", "权限": "permission", "授权": "permission", "注解": "annotation", "标签": "tag", "安全组": "security group", "弹性公网": "eip", "弹性网卡": "eni", "网卡": "eni",
	"路由": "route", "路由表": "route table", "超时": "timeout", "锁定": "locked", "端口": "port", "规格": "spec", "计费": "charge", "复用": "reuse", "重用": "reuse", "地址类型": "address type", "地址": "address", "带宽": "bandwidth",
	"会话保持": "sticky session", "连接排空": "connection drain", "优雅中断": "connection drain", "转发规则": "rule", "访问控制": "acl", "扩展域名": "domain extension", "域名": "domain", "重命名": "rename", "改名": "rename",
	"删除": "delete", "创建": "create", "修改": "change", "冲突": "conflict", "专有网络": "vpc", "集群": "cluster", "节点": "node", "容器组": "pod", "升级": "upgrade", "权重": "weight", "共享": "shared", "性能": "performance",
	"数量": "number", "达到": "reached", "不存在": "not exist", "找不到": "find", "没有": "", "空闲": "available", "可用": "available", "作业": "job", "异步任务": "job", "重试": "retry", "丢失": "lost", "误删": "deleted",
	"调度": "scheduler", "会话": "session", "公网": "internet", "私网": "intranet", "内网": "intranet", "虚拟": "virtual", "流量": "traffic", "不均": "uneven", "超过": "", "超出": "", "用尽": "", "无法创建": "uncreated", "不能创建": "uncreated", "创建失败": "uncreated", "创建不了": "uncreated", "无法": "", "不能": "", "一直": "", "类型": "", "报错": "", "错误": "", "失败": "", "怎么办": "", "怎么": "", "如何": "", "为什么": "", "原因": "", "解决": "", "处理": "", "问题": "", "提示": "", "出现": "", "权限不足": "permission denied", "没有权限": "permission missing", "无权限": "permission missing", "缺少权限": "permission missing",
	"限制": "limit", "外网": "external", "共享型": "shared", "性能保障型": "performance", "按量付费": "paybyclcu", "按规格付费": "paybyspec", "包年包月": "prepay", "后付费": "postpaid",
	"资源": "resource", "条目": "entries", "子账号": "ram user", "子用户": "ram user", "角色": "role", "策略": "policy", "白名单": "acl", "黑名单": "acl", "参数": "parameter", "无效": "invalid", "非法": "illegal", "签名": "signature", "签名错误": "signature matched", "签名失败": "signature matched", "签名不匹配": "signature matched", "购买": "sold", "买": "sold", "密钥": "access key",
	"不一致": "conflict", "负载": "load", "分配": "", "网络": "network", "操作": "", "还在": "left", "没删": "left", "未删除": "left", "滚动": "rolling", "滚动发布": "rolling deploy", "期间": "", "发到": "sent", "发送到": "sent", "明文": "plain http", "多个": "several", "不同": "another", "不匹配": "match", "不均衡": "uneven", "不均匀": "uneven", "重复": "exist", "已存在": "already exist", "存在": "exist", "占用": "already exist", "使用": "use", "引用": "use", "正在": "", "绑定": "associated", "解绑": "unassociate", "关联": "associated",
	"到期": "expired", "失效": "expired", "续费": "bill", "释放": "released", "空": "empty", "源站": "backend", "客户端": "client", "扩容": "scale", "缩容": "scale", "滚动更新": "rolling update", "重启": "restart", "上线": "deploy", "停止": "stop", "启动": "start", "关闭": "off", "开启": "on", "调度算法": "scheduler",
	"证书链": "certificate", "双向认证": "cacert", "重定向": "redirect", "跳转": "redirect", "请求": "request", "接口": "api", "调用": "call", "频率": "throttling", "频繁": "throttling", "过快": "throttling", "容器": "container", "连接数": "connection", "连接": "connection", "断开": "drain", "中断": "drain",
	"服务": "service", "服务器端": "server", "集群内": "inside cluster", "集群外": "outside cluster", "集群内部": "inside cluster", "集群外部": "outside cluster", "新节点": "new node", "控制台": "console", "手动": "by hand", "手工": "by hand", "改动": "change", "变更": "change", "更改": "change", "更换": "change", "切换": "change", "被删": "deleted", "删了": "deleted", "残留": "left",
	"停机": "", "停服": "", "恢复": "", "异常": "", "不通过": "", "未通过": "", "不够": "", "用完": "", "用光": "", "耗尽": "", "满了": "", "不通": "reach", "访问不了": "access", "访问不通": "access", "无法访问": "access", "不能访问": "access", "打不开": "access", "报": "", "提示说": "", "请问": "", "什么": "", "意思": "", "导致": "", "可以": "", "应该": "", "需要": "", "哪里": "", "有没有": "", "还是": "", "为何": "", "突然": "", "总是": "", "偶尔": "", "经常": "", "之后": "", "以后": "", "时候": "", "这个": "", "那个": "", "我们": "", "我的": "", "一下": "", "起来": "", "不了": "", "不到": "", "显示": "", "看到": "", "遇到": "", "碰到": "", "导入": "", "线上": "", "每次": "", "几个": "", "配置": "", "阿里云": "",
	"真实": "real", "获取": "get", "固定": "fixed", "长连接": "long connection", "断连": "drain", "挂起": "pending", "外部": "outside", "内部": "inside", "访问": "access", "更新": "update", "发布": "deploy", "发版": "deploy", "不生效": "effect", "未生效": "effect", "了": "", "的": "", "被": "", "已": "", "是": "",
}

// inEnglish replaces words of Chinese, the longer ones first.
var inEnglish = sync.OnceValue(func() *strings.Replacer {
	terms := slices.SortedFunc(maps.Keys(chinese), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, term := range terms {
		pairs = append(pairs, term, " "+chinese[term]+" ")
	}
	return strings.NewReplacer(pairs...)
})

// tellers are words of Chinese that say by themselves what a sentence about the cloud is
// about, and subjects are those that show that it is about the cloud.
var (
	tellers  = strings.Fields("欠费 余额 限流 流控 限速 流量控制 频率 频繁 过快 交换机 配额 额度 超限 售罄 停售 缺货 删除保护 健康检查 账号 账户 帐号 帐户")
	subjects = []string{"账号", "账户", "帐号", "帐户", "负载均衡", "交换机", "实例", "可用区", "监听", "服务器组", "服务", "接口", "阿里云", "云上", "slb", "clb", "nlb", "vswitch", "service", "loadbalancer", "ccm", "api", "aliyun", "alicloud", "ingress"}
	// around are words of other languages in such a sentence that say where the error was seen.
	around = []string{"slb", "clb", "nlb", "service", "loadbalancer", "ccm", "api", "aliyun", "alicloud", "ingress", "kubectl", "describe", "svc", "pending", "event", "events", "terraform", "sdk", "ack"}
)

// told returns what a sentence of Chinese about the cloud tells: its telling words, and the
// words of other languages. It is empty where the sentence is about something else: a telling
// word needs a subject beside it.
func told(text string) string {
	lower, told := strings.ToLower(text), ""
	about := func(word string) bool {
		return slices.ContainsFunc(subjects, func(s string) bool { return s != word && strings.Contains(lower, s) })
	}
	for _, word := range tellers {
		if strings.Contains(lower, word) && about(word) {
			told += " " + chinese[word]
		}
	}
	if told == "" {
		return ""
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune(" :,;.!?()[]", r) }) {
		if !slices.Contains(around, strings.ToLower(word)) {
			told += " " + word
		}
	}
	return told
}

// weak are words that say little of what a text is about.
var weak = func() map[string]bool {
	all := make(map[string]bool)
	for _, word := range strings.Fields(`a an the of to in on for with and or is are be been was were this that it its by at as from not no can do does did has have had will would could should there
which when where what why how if but so my your our i we you he they me please help get got into than then any all been over too many
fix solve resolve mistake lack while
error failed warning normal message code alicloud recommend request sdk data specified loadbalancer service`) {
		all[stem(word)] = true
	}
	return all
}()

// common are weak words that a person may search for all the same.
var common = map[string]bool{stem("loadbalancer"): true, stem("service"): true, stem("nlb"): true}

// same are short names of the same thing.
var same = map[string]string{"slb": stem("loadbalancer"), "clb": stem("loadbalancer"), "acls": "acl", "whitelist": "acl", "allowlist": "acl", "blacklist": "acl"}

// stem cuts the end of a word that its forms differ by.
func stem(word string) string {
	for _, end := range []string{"ing", "ed"} {
		if short, ok := strings.CutSuffix(word, end); ok && len(short) > 3 {
			return strings.TrimSuffix(short, "e")
		}
	}
	if len(word) > 3 && !strings.HasSuffix(word, "ss") {
		word = strings.TrimSuffix(word, "s")
	}
	return strings.TrimSuffix(word, "e")
}

// wordsOf returns the words of a text in order, without what wraps a message, and without
// the ids, addresses, numbers and placeholders that differ from one to the next.
func wordsOf(text string) (words []string) {
	for field := range strings.FieldsSeq(wrapped.Replace(strings.ToLower(text))) {
		field = strings.Trim(field, `"'(){},;:.!=`+"`")
		if field == "" || columns[field] || varies(field) {
			continue
		}
		for word := range strings.FieldsFuncSeq(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if utf8.RuneCountInString(word) == 1 && word[0] > unicode.MaxASCII {
				continue // a particle of Chinese
			}
			digits := strings.Count(strings.Map(digit, word), "0")
			if len(word) > 1 && len(word) <= 64 && (word[0] < '0' || word[0] > '9') && digits < 4 && (digits == 0 || len(word) > 2) && strings.Trim(word, "x") != "" {
				words = append(words, cmp.Or(same[word], stem(word)))
			}
		}
	}
	return words
}

// digit turns digits into 0.
func digit(r rune) rune {
	if unicode.IsDigit(r) {
		return '0'
	}
	return r
}

// varies reports whether a field is an id, an address, a place in a source or a placeholder.
func varies(field string) bool {
	before, after, dashed := strings.Cut(field, "-")
	id := dashed && (ids[before] || strings.ContainsAny(after, "0123456789") || strings.Trim(after, "x") == "") && !strings.Contains(after, "/")
	return id || strings.Contains(field, "://") || strings.Contains(field, ".go:") || strings.HasPrefix(field, "service/") || strings.HasPrefix(field, "<") ||
		strings.HasPrefix(field, "[") && strings.Contains(field, "]") || slices.ContainsFunc(regions, func(area string) bool { return strings.HasPrefix(field, area) })
}

// ids lists the beginnings of ids of resources.
var ids = map[string]bool{"lb": true, "nlb": true, "alb": true, "rsp": true, "sgp": true, "lsn": true, "acl": true, "vsw": true, "vpc": true, "eni": true, "sg": true, "eip": true, "vtb": true}

// regions lists the beginnings of regions.
var regions = []string{"cn-", "us-", "eu-", "ap-", "me-", "na-"}

// humps returns the words within the names of a text, such as of VSwitchAvailableIpNotExist.
func humps(text string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range strings.NewReplacer("VSwitch", "Vswitch", "VServer", "Vserver", "LoadBalancer", "Loadbalancer").Replace(text) {
		if unicode.IsUpper(r) && !unicode.IsUpper(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return wordsOf(b.String())
}

// weightOf says how much a word of a message counts.
func weightOf(word string) float64 {
	if weak[word] {
		return 0.3
	}
	return 1
}
